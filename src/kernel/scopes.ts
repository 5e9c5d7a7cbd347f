/** The scopes that a person may allow to a connector (docs/spec/agent-api-decisions.md). */
export const scopes = ['read', 'publish', 'spend'] as const
export type Scope = (typeof scopes)[number]
