/** The playground's address. Its models may take their time, which the door gives them. */
export const playgroundPath = '/wallet/playground'
