/** Parts of the page of a person, each of which they show or not. */
export const profileParts = ['agents', 'collections', 'reviews', 'follows'] as const
export type ProfilePart = (typeof profileParts)[number]
