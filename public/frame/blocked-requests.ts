import { listen } from './listen.ts'

/**
 * Logs once why a request failed. Firefox and WebKit do not name the reason. A page that shows its
 * console gets the line, too.
 */
export function logBlockedRequest(): void {
  let isLogged = false
  listen('securitypolicyviolation', (event) => {
    if (isLogged || !/-src/.test(event.effectiveDirective) || !/^\w+:/.test(event.blockedURI))
      return
    isLogged = true
    console.warn(
      `This app runs in a sandbox without a network, so requests fail as if offline: ${event.blockedURI}`,
    )
  })
}
