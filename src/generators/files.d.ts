/** Types of imported files that are not code. */
declare module '*.svg' {
  const text: string
  export default text
}
declare module '*.wasm' {
  const path: string
  export default path
}
