/** The part of swagger-ui-dist's global that the docs page uses. */
declare const SwaggerUIBundle: (options: {
  domNode: Element
  url: string
  deepLinking: boolean
  docExpansion: 'list'
  defaultModelsExpandDepth: number
  supportedSubmitMethods: string[]
  validatorUrl: null
}) => void

const dark = matchMedia('(prefers-color-scheme: dark)')

const dress = (): void => {
  document.documentElement.classList.toggle('dark-mode', dark.matches)
}

/** `<api-reference src="openapi.json">`: every operation of a description, to read and to try. */
class ApiReference extends HTMLElement {
  connectedCallback(): void {
    dress()
    dark.addEventListener('change', dress)
    SwaggerUIBundle({
      domNode: this,
      url: this.getAttribute('src') ?? '',
      deepLinking: true,
      docExpansion: 'list',
      defaultModelsExpandDepth: 0,
      supportedSubmitMethods: ['get', 'post', 'put', 'patch', 'delete'],
      validatorUrl: null,
    })
  }
}

customElements.define('api-reference', ApiReference)
