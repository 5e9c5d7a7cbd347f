import { pageZipBytesMax } from '../../apps/folders/limits.ts'
import { isZip } from '../../apps/folders/unzip.ts'
import { type PageUpload, readPageZip } from '../../apps/publish-request.ts'
import { formatBytes } from '../format.ts'
import { type Form, rejectForm } from '../forms.ts'

/** Reads the HTML file, the zip or the pasted text of a form. Throws `bad_request`, `try_again`. */
export async function readUpload(form: Form): Promise<PageUpload> {
  const file = form.file('file')
  if (!file) return checkPage({ html: form.text('html') })
  const bytes = await file.bytes()
  if (!isZip(file, bytes)) return checkPage({ html: await file.text() })
  if (bytes.length > pageZipBytesMax) {
    rejectForm(`A zip has at most ${formatBytes(pageZipBytesMax)}.`)
  }
  return checkPage(await readPageZip(bytes))
}

function checkPage(upload: PageUpload): PageUpload {
  if (upload.html.trim() === '') rejectForm('Choose an HTML file or a zip, or paste HTML.')
  return upload
}
