/** The sandbox of a host of chats, on its own origin (MCP Apps, 2026-01-26, "Sandbox proxy"). */

const relay = `
const inner = document.createElement('iframe')
inner.style = 'width:100%;height:100%;border:0'
inner.setAttribute('sandbox', 'allow-scripts allow-same-origin allow-forms')
document.body.append(inner)
addEventListener('message', ({ source, data }) => {
  if (source === inner.contentWindow) return parent.postMessage(data, '*')
  if (source !== parent) return
  if (data?.method !== 'ui/notifications/sandbox-resource-ready')
    return inner.contentWindow.postMessage(data, '*')
  // Like the reference implementation: a document of this origin instead of srcdoc.
  const { contentDocument } = inner
  contentDocument.open()
  contentDocument.write(data.params.html)
  contentDocument.close()
})
parent.postMessage({ jsonrpc: '2.0', method: 'ui/notifications/sandbox-proxy-ready', params: {} }, '*')`

const page = `<!doctype html><style>html,body{margin:0;height:100%;overflow:hidden}</style><body><script>${relay}</script>`

interface Domains {
  connectDomains?: string[]
  resourceDomains?: string[]
  frameDomains?: string[]
  baseUriDomains?: string[]
}

/** Returns the policy for the domains of a view, as the reference implementation sets it. */
function policyOf({
  connectDomains,
  resourceDomains,
  frameDomains,
  baseUriDomains,
}: Domains): string {
  const of = (domains: string[] = []): string => domains.join(' ')
  const resources = of(resourceDomains)
  return [
    "default-src 'self' 'unsafe-inline'",
    `script-src 'self' 'unsafe-inline' 'unsafe-eval' blob: data: ${resources}`,
    `style-src 'self' 'unsafe-inline' blob: data: ${resources}`,
    ...['img', 'font', 'media'].map((kind) => `${kind}-src 'self' data: blob: ${resources}`),
    `connect-src 'self' ${of(connectDomains)}`,
    `worker-src 'self' blob: ${resources}`,
    `frame-src ${of(frameDomains) || "'none'"}`,
    "object-src 'none'",
    `base-uri ${of(baseUriDomains) || "'none'"}`,
  ].join('; ')
}

/** Returns the policy as the specification has it ("Content Security Policy Enforcement"). */
function strictPolicyOf({ connectDomains, resourceDomains, baseUriDomains }: Domains): string {
  const of = (domains: string[] = []): string => domains.join(' ')
  const resources = of(resourceDomains)
  return [
    "default-src 'none'",
    ...['script', 'style'].map((kind) => `${kind}-src 'self' 'unsafe-inline' ${resources}`),
    ...['img', 'media'].map((kind) => `${kind}-src 'self' data: ${resources}`),
    `font-src 'self' ${resources}`,
    `connect-src 'self' ${of(connectDomains)}`,
    "frame-src 'none'; object-src 'none'",
    `base-uri ${of(baseUriDomains) || "'self'"}`,
  ].join('; ')
}

const policies: Record<string, typeof policyOf> = {
  '/': policyOf,
  '/strict': strictPolicyOf,
}

/** Serves the proxy of the sandbox with the policy of the query: / and /strict; none at /lax. */
export const serveSandbox = () =>
  Bun.serve({
    port: 0,
    fetch({ url }) {
      const { pathname, searchParams } = new URL(url)
      const domains: Domains = JSON.parse(searchParams.get('csp') ?? '{}')
      const policy = policies[pathname]?.(domains)
      const headers = {
        'content-type': 'text/html; charset=utf-8',
        ...(policy !== undefined && { 'content-security-policy': policy }),
      }
      return new Response(page, { headers })
    },
  })
