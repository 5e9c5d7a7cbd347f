/** The parts of Trusted Types that are used. Older browsers lack them. */
interface Window {
  trustedTypes?: {
    readonly defaultPolicy: unknown
    createPolicy(
      name: string,
      rules: Record<string, (text: string, kind?: string, sink?: string) => string>,
    ): unknown
  }
}
