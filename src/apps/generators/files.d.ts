/** Types of imported files that are not code. */
declare module '*.svg' {
  const text: string
  export default text
}
