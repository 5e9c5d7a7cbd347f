const namePattern = /^[\p{L}\p{N}/][\p{L}\p{N} ._:/@-]{0,99}$/u

/** Returns whether a text can name a group. Providers name some by paths: "/staff/design". */
export const isGroupName = (name: string): boolean => namePattern.test(name)
