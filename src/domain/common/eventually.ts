/**
 * What is there at once where everything that it takes is known already, and later otherwise. The hot
 * paths use it, where a promise for nothing would cost as much as the work itself.
 */
export type Eventually<Value> = Value | Promise<Value>;

/**
 * What `next` makes of the value: at once if the value is there, so that `next` may throw
 * synchronously, and as a promise otherwise. (Not called `then`: a module that exports a `then` is
 * taken for a promise by `import()`.)
 */
export function andThen<Value, Result>(
  value: Eventually<Value>,
  next: (value: Value) => Eventually<Result>,
): Eventually<Result> {
  return value instanceof Promise ? value.then(next) : next(value);
}
