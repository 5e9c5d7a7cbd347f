/** The parts of swagger-ui-dist's global, and of the system it builds, that the docs page uses. */
type Drawn = unknown
interface System {
  React: { createElement: (of: Drawn, props: object | null, ...children: Drawn[]) => Drawn }
}
interface Shown {
  getComponent: (name: string, isConnected?: true) => Drawn
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

const dress = (): void => {
  document.documentElement.classList.toggle('dark-mode', dark.matches)
}

/** The operations alone: the page says the rest, and has a `<main>` for both references. */
const reference = ({ React: { createElement } }: System) => ({
  components: {
    Reference: ({ getComponent, specSelectors }: Shown): Drawn => {
      const names = ['AuthorizeBtnContainer', 'operations']
      const isRead = specSelectors.loadingStatus() === 'success'
      return createElement(
        'div',
        { className: 'swagger-ui' },
        createElement(getComponent('SvgAssets'), null),
        createElement(getComponent('errors', true), null),
        ...(isRead ? names : []).map((name) => createElement(getComponent(name, true), null)),
      )
    },
  },
})

/** `<api-reference src="openapi.json">`: every operation of a description, to read and to try. */
class ApiReference extends HTMLElement {
  connectedCallback(): void {
    dress()
    dark.addEventListener('change', dress)
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
