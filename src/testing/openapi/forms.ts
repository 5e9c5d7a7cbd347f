import { isRecord } from '../../core/schema.ts'
import type { DescribedOperation } from '../../http/api-description.ts'
import type { TestResponse, TestServer } from '../fixtures/test-server.ts'
import { ownedNames } from './hostile.ts'

/** A form with a file: for an upload, or for a model. */
interface Form {
  path: string
  /** The name of the field of the file. */
  field: string
  file: string | Uint8Array<ArrayBuffer>
  fileName: string
  fields: [name: string, value: string][]
}

/** Returns the name of the file's field in the form of an operation; undefined without a form. */
export function fileFieldOf({ requestBody }: DescribedOperation): string | undefined {
  const { schema } = requestBody?.content['multipart/form-data'] ?? {}
  if (!schema) return undefined
  const { properties } = schema
  return isRecord(properties) && 'image' in properties ? 'image' : 'file'
}

/** Fields that are looked up, parsed or forwarded. */
const names =
  'model purpose prompt size n quality voice language response_format stream expires_after seconds'

/** The fields of forms with the names of every object, as fields and as values. */
export const hostileFields: Form['fields'][] = [
  ...ownedNames.map((name): Form['fields'] => [[name, name]]),
  ...names
    .split(' ')
    .flatMap((field) =>
      [...ownedNames, '{"toString":1,"valueOf":1}', '1e999', '\0', ''].map(
        (value): Form['fields'] => [[field, value]],
      ),
    ),
]

/** Sends a form to an operation of the gateway. */
export async function sendForm(server: TestServer, key: string, sent: Form): Promise<TestResponse> {
  const form = new FormData()
  form.append(sent.field, new File([sent.file], sent.fileName))
  for (const [name, value] of sent.fields) form.append(name, value)
  const request = new Request('http://localhost/', { method: 'POST', body: form })
  const headers = { 'content-type': request.headers.get('content-type') ?? '' }
  return server.request('POST', `/v1${sent.path}`, { key, headers, body: await request.bytes() })
}
