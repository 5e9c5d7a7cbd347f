/** Patterns of user agents. Browsers that also claim to be another one come first. */
const browsers = [
  ['Edge', /Edg(?:A|iOS)?\/(\d{1,4})/],
  ['Opera', /OPR\/(\d{1,4})/],
  ['Firefox', /(?:Firefox|FxiOS)\/(\d{1,4})/],
  ['Chrome', /(?:Chrome|CriOS)\/(\d{1,4})/],
  ['Safari', /Version\/(\d{1,4}).*Safari\//],
] as const

/** Returns "Firefox 153" for a User-Agent; undefined for an unknown one. */
export function browserName(userAgent: string): string | undefined {
  const [name] = browsers.flatMap(([browser, pattern]) => {
    const version = pattern.exec(userAgent)?.[1]
    return version === undefined ? [] : [`${browser} ${version}`]
  })
  return name
}
