/** The parts of swagger-ui-dist that the docs page uses. */
type ReactNode = unknown
interface System {
  React: {
    createElement: (of: ReactNode, props: object | null, ...children: ReactNode[]) => ReactNode
  }
}
interface LayoutProps {
  getComponent: (name: string, isConnected?: true) => ReactNode
  specSelectors: { loadingStatus: () => string | undefined }
}
declare const SwaggerUIBundle: (options: {
  domNode: Element
  url: string
  docExpansion: 'list'
  layout: 'Reference'
  plugins: ((system: System) => object)[]
  supportedSubmitMethods: string[]
  validatorUrl: null
  requestSnippetsEnabled: true
  requestSnippets: {
    generators: Record<string, { title: string; syntax: string }>
    defaultExpanded: boolean
  }
}) => void

/** A request that was sent, as an Immutable map. */
interface SentRequest {
  get(name: 'url' | 'method'): string
  get(name: 'headers'): { toJS(): Record<string, string> } | undefined
  get(name: 'body'): unknown
}

/** Returns the body of a request as text; undefined without one, or for a file. */
function bodyOf(request: SentRequest): string | undefined {
  const body = request.get('body')
  if (typeof body === 'string') return body
  return body === undefined || body instanceof Blob ? undefined : JSON.stringify(body)
}

/** Returns text as a literal of TypeScript or Python, and JSON as a value of it. */
const literal = (text: string): string => JSON.stringify(text)

const isJson = (text: string): boolean => {
  try {
    return typeof JSON.parse(text) === 'object'
  } catch {
    return false
  }
}

function typeScriptOf(request: SentRequest): string {
  const body = bodyOf(request)
  const value = body !== undefined && (isJson(body) ? `JSON.stringify(${body})` : literal(body))
  const headers = JSON.stringify(request.get('headers')?.toJS() ?? {}, null, 2).replace(
    /\n/g,
    '\n  ',
  )
  return `const response = await fetch(${literal(request.get('url'))}, {
  method: ${literal(request.get('method'))},
  headers: ${headers},${value ? `\n  body: ${value},` : ''}
})
console.log(response.status, await response.text())`
}

function pythonOf(request: SentRequest): string {
  const body = bodyOf(request)
  const headers = JSON.stringify(request.get('headers')?.toJS() ?? {}, null, 4).replace(
    /\n/g,
    '\n    ',
  )
  return `import requests

response = requests.request(
    ${literal(request.get('method'))},
    ${literal(request.get('url'))},
    headers=${headers},${body === undefined ? '' : `\n    data=${literal(body)}.encode(),`}
)
print(response.status_code, response.text)`
}

/** Shows a sent request in these languages, each with a button that copies it. */
const snippets = () => ({
  fn: {
    requestSnippetGenerator_typescript: typeScriptOf,
    requestSnippetGenerator_python: pythonOf,
  },
})

const dark = matchMedia('(prefers-color-scheme: dark)')

/** Applies the theme of the switch, or else that of the system. */
const applyTheme = (): void => {
  const { classList, dataset } = document.documentElement
  const theme = dataset['theme']
  classList.toggle('dark-mode', theme === undefined ? dark.matches : theme === 'dark')
}

/** Renders only the operations: the page has its own header and `<main>`. */
const reference = ({ React: { createElement } }: System) => ({
  components: {
    Reference: ({ getComponent, specSelectors }: LayoutProps): ReactNode => {
      const names = ['AuthorizeBtnContainer', 'operations']
      const isLoaded = specSelectors.loadingStatus() === 'success'
      return createElement(
        'div',
        { className: 'swagger-ui' },
        createElement(getComponent('SvgAssets'), null),
        createElement(getComponent('errors', true), null),
        ...(isLoaded ? names : []).map((name) => createElement(getComponent(name, true), null)),
      )
    },
  },
})

/** `<api-reference src="openapi.json">`: the operations of an OpenAPI document. */
class ApiReference extends HTMLElement {
  connectedCallback(): void {
    applyTheme()
    dark.addEventListener('change', applyTheme)
    new MutationObserver(applyTheme).observe(document.documentElement, {
      attributeFilter: ['data-theme'],
    })
    SwaggerUIBundle({
      domNode: this,
      url: this.getAttribute('src') ?? '',
      docExpansion: 'list',
      layout: 'Reference',
      plugins: [reference, snippets],
      requestSnippetsEnabled: true,
      requestSnippets: {
        generators: {
          curl_bash: { title: 'curl', syntax: 'bash' },
          typescript: { title: 'TypeScript', syntax: 'javascript' },
          python: { title: 'Python', syntax: 'bash' },
        },
        defaultExpanded: true,
      },
      supportedSubmitMethods: ['get', 'post', 'put', 'patch', 'delete'],
      validatorUrl: null,
    })
  }
}

customElements.define('api-reference', ApiReference)
