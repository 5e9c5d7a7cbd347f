/** What the bundler makes of files that are no code. */
declare module '*.svg' {
  const text: string
  export default text
}
declare module '*.wasm' {
  const path: string
  export default path
}
