// The part of @babel/code-frame that is used here; the package has no types of its own.
declare module '@babel/code-frame' {
  /** JavaScript or TypeScript with the escape sequences of colours, whatever the terminal. */
  export function highlight(text: string): string;
}
