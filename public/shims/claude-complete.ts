/**
 * `window.claude.complete(prompt)` of artifacts in Claude's chats. Source: the help pages of
 * Anthropic and public artifacts, as of November 2026.
 */
import { extend } from './bridge-calls.ts'
import { complete } from './claude-prompts.ts'

extend('claude', { complete })
