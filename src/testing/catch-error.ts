/** What a promise is rejected with; throws when it is kept, so that no refusal is missed. */
export const catchError = (work: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(work).then(
    () => Promise.reject(new Error('It should have failed.')),
    (error: unknown) => error,
  )
