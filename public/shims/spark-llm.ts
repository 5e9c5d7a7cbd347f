/**
 * GitHub Spark: `spark.llm`, `spark.llmPrompt`.
 * Source: https://docs.github.com/copilot/tutorials/spark (November 2026).
 */
import { ai, extend, textOf } from './bridge-calls.ts'
// Pages take `user` from `spark` in forms that no pattern finds.
import './spark-user.ts'

async function llm(prompt: unknown, model?: string, json = false): Promise<string> {
  const { text, json: value } = await ai.chat(textOf(prompt), { model, json })
  return json ? JSON.stringify(value) : text
}

const llmPrompt = (texts: TemplateStringsArray | string[], ...values: unknown[]): string =>
  String.raw({ raw: [...texts] }, ...values.map(textOf))

extend('spark', { llm, llmPrompt })
