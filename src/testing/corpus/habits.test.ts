import { join } from 'node:path'

import { testCorpus } from './corpus.ts'

/** WebKitGTK now and then hangs for good when a frame ends while GStreamer loads a sound in it. */
const withSounds = ['files-audio.html', 'files-preload-list.html', 'files-web-audio.html']

testCorpus('pages with habits of models', join(import.meta.dir, 'habits'), 1, {
  webkit: withSounds,
})
