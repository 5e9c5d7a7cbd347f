import { listen } from './listen.ts'

/** Logs once why a request failed. Firefox and WebKit do not name the reason. */
export function offline(): void {
  const warn = console.warn.bind(console)
  let isLogged = false
  listen('securitypolicyviolation', (event) => {
    if (isLogged || !/-src/.test(event.effectiveDirective) || !/^\w+:/.test(event.blockedURI))
      return
    isLogged = true
    warn(
      `This app runs in a sandbox without a network, so requests fail as if offline: ${event.blockedURI}`,
    )
  })
}
