/** The parts of Trusted Types that the guard uses. Older browsers lack them. */
interface Window {
  trustedTypes?: {
    createPolicy(
      name: string,
      rules: Record<string, (text: string, kind?: string, sink?: string) => string>,
    ): unknown
  }
}
