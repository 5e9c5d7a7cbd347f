/** Returns the error of a rejected promise. Throws if the promise resolves. */
export const catchError = (work: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(work).then(
    () => Promise.reject(new Error('It should have failed.')),
    (error: unknown) => error,
  )
