/** Trusted Types, as far as the guard uses them; absent in older browsers. */
interface Window {
  trustedTypes?: {
    createPolicy(
      name: string,
      rules: Record<string, (text: string, kind?: string, sink?: string) => string>,
    ): unknown
  }
}
