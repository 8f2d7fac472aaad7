// What the readers of objects and lists ask of the reader of schemas: the type of a place in a value. Not here: how it is read (read.ts).
import type { Comment } from './comment.ts';
import type { TypeNode, TypeNodes } from './node.ts';

/** Schemas that all hold for a value, and the name of the place where it stands. */
export interface Slot {
  readonly schemas: readonly unknown[];
  readonly name: string;
}

/** The type of a place, and what is said beside it. */
export interface Placed {
  readonly type: TypeNode;
  readonly comment: Comment;
}

export interface SlotReader {
  readonly nodes: TypeNodes;
  place(slot: Slot): Placed;
}
