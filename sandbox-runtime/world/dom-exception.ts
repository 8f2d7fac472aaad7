// `DOMException`: the error class of web APIs, with its legacy codes. Which API throws which name is those APIs' business.
import { ErrorConstructor, ObjectDefineProperty, ObjectKeys, ObjectPrototypeHasOwnProperty, StringConstructor } from '../primordials.ts';
import { dataDescriptor, defineClass, defineHidden } from './define.ts';

const CODES: Readonly<Record<string, number>> = {
  IndexSizeError: 1,
  HierarchyRequestError: 3,
  WrongDocumentError: 4,
  InvalidCharacterError: 5,
  NoModificationAllowedError: 7,
  NotFoundError: 8,
  NotSupportedError: 9,
  InUseAttributeError: 10,
  InvalidStateError: 11,
  SyntaxError: 12,
  InvalidModificationError: 13,
  NamespaceError: 14,
  InvalidAccessError: 15,
  TypeMismatchError: 17,
  SecurityError: 18,
  NetworkError: 19,
  AbortError: 20,
  URLMismatchError: 21,
  QuotaExceededError: 22,
  TimeoutError: 23,
  InvalidNodeTypeError: 24,
  DataCloneError: 25,
};

/** Makes web errors. */
export type DOMExceptionClass = new (message?: string, options?: string | { name?: string; cause?: unknown }) => Error;

// The same constructor, without the type's `name` field, which becomes an accessor here as in browsers.
const Base = ErrorConstructor as new (message?: string) => object;

/** Defines the global `DOMException`. */
export function installDOMException(): DOMExceptionClass {
  class DOMException extends Base {
    constructor(message?: unknown, options?: unknown) {
      super(message === undefined ? '' : StringConstructor(message));
      let name: unknown = 'Error';
      if (typeof options === 'object' && options !== null) {
        const given = options as { name?: unknown; cause?: unknown };
        if (given.name !== undefined) name = given.name;
        if ('cause' in given) defineHidden(this, 'cause', given.cause);
      } else if (options !== undefined) name = options;
      // Data of its own, where browsers have an accessor: whoever prints or reports an error reads it without running code.
      const text = StringConstructor(name);
      defineHidden(this, 'name', text);
      defineHidden(this, 'code', ObjectPrototypeHasOwnProperty(CODES, text) ? CODES[text] : 0);
    }
  }
  const names = ObjectKeys(CODES);
  for (let i = 0; i < names.length; i++) {
    const name = names[i] as string;
    const constant = constantName(name);
    const descriptor = dataDescriptor(CODES[name], true, false, false);
    ObjectDefineProperty(DOMException, constant, descriptor);
    ObjectDefineProperty(DOMException.prototype, constant, descriptor);
  }
  defineClass('DOMException', DOMException);
  return DOMException as unknown as DOMExceptionClass;
}

/** `DataCloneError` is `DATA_CLONE_ERR`. Runs while the world is built, before any program. */
function constantName(name: string): string {
  return `${name
    .slice(0, -'Error'.length)
    .replace(/(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, '_')
    .toUpperCase()}_ERR`;
}
