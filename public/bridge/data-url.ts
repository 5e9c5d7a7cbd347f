import { CallError } from './protocol.ts'

/** Returns a blob as a data: URL, which also works in other frames and later. */
export const dataUrl = (blob: Blob): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result))
    reader.onerror = () => reject(new CallError('bad_request', 'The file cannot be read.'))
    try {
      reader.readAsDataURL(blob)
    } catch {
      reject(new CallError('bad_request', 'This is no Blob and no File. Pass one.'))
    }
  })
