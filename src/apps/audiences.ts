/**
 * The parties that may open an item: anyone, anyone with the link, those with a password, named
 * people and groups, or all signed-in people of the server.
 */
export const audiences = ['public', 'link', 'password', 'people', 'instance'] as const

export type Audience = (typeof audiences)[number]
