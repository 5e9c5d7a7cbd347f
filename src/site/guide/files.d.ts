/** Markdown that is served, imported as text. */
declare module '*.md' {
  const text: string
  export default text
}
