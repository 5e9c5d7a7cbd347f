import { type Json, recordOf } from '../../core/schema.ts'
import { post } from '../fixtures/mcp-server.ts'
import type { TestServer } from '../fixtures/test-server.ts'
import { varyBody } from './hostile.ts'

/** Every so many variations of the arguments are sent. The operation itself gets all of them. */
const step = 4

/** Calls a tool with hostile variations of its arguments. Returns the problems of the results. */
export async function callHostile(
  server: TestServer,
  name: string,
  args: Json,
  turn: number,
): Promise<string[]> {
  const problems: string[] = []
  const texts = varyBody(args, turn).filter((text, at) => at % step === turn % step && text !== '')
  for (const text of texts) {
    const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${text}}}`
    const { status, message } = await post(server, call)
    const { error, result } = recordOf(message)
    const isResult = Array.isArray(recordOf(result)['content'])
    const isError = [-32_602, -32_600, -32_700].includes(Number(recordOf(error)['code']))
    const { code } = recordOf(recordOf(result)['structuredContent'])
    if (status < 500 && (isResult || isError) && code !== 'internal') continue
    problems.push(`${status} ${JSON.stringify(message)}\n${call.slice(0, 2_000)}`)
  }
  return problems
}
