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
}) => void

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
      plugins: [reference],
      supportedSubmitMethods: ['get', 'post', 'put', 'patch', 'delete'],
      validatorUrl: null,
    })
  }
}

customElements.define('api-reference', ApiReference)
