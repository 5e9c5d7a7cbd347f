const text = '; charset=utf-8'

/** Media types of the files that pages load, by extension. Text is UTF-8. */
const types = new Map(
  Object.entries({
    aac: 'audio/aac',
    atlas: `text/plain${text}`,
    avif: 'image/avif',
    bmp: 'image/bmp',
    cjs: `text/javascript${text}`,
    css: `text/css${text}`,
    csv: `text/csv${text}`,
    flac: 'audio/flac',
    fnt: `text/xml${text}`,
    frag: `text/plain${text}`,
    gif: 'image/gif',
    glb: 'model/gltf-binary',
    glsl: `text/plain${text}`,
    gltf: 'model/gltf+json',
    htm: `text/html${text}`,
    html: `text/html${text}`,
    ico: 'image/x-icon',
    jpeg: 'image/jpeg',
    jpg: 'image/jpeg',
    js: `text/javascript${text}`,
    json: 'application/json',
    ktx2: 'image/ktx2',
    m4a: 'audio/mp4',
    m4v: 'video/mp4',
    map: 'application/json',
    md: `text/markdown${text}`,
    mid: 'audio/midi',
    mjs: `text/javascript${text}`,
    mp3: 'audio/mpeg',
    mp4: 'video/mp4',
    obj: `text/plain${text}`,
    oga: 'audio/ogg',
    ogg: 'audio/ogg',
    ogv: 'video/ogg',
    opus: 'audio/ogg',
    otf: 'font/otf',
    pdf: 'application/pdf',
    png: 'image/png',
    svg: `image/svg+xml${text}`,
    ttf: 'font/ttf',
    txt: `text/plain${text}`,
    vert: `text/plain${text}`,
    vtt: `text/vtt${text}`,
    wasm: 'application/wasm',
    wav: 'audio/wav',
    weba: 'audio/webm',
    webm: 'video/webm',
    webmanifest: 'application/manifest+json',
    webp: 'image/webp',
    woff: 'font/woff',
    woff2: 'font/woff2',
    xhtml: `application/xhtml+xml${text}`,
    xml: `text/xml${text}`,
    zip: 'application/zip',
  }),
)

const typeOf = (name: string): string | undefined =>
  types.get(/\.(\w+)$/.exec(name)?.[1]?.toLowerCase() ?? '')

/**
 * Returns the media type of a file by its name; bytes of no type where the name says nothing. A
 * mirror of wget has "style.css?ver=1.2" as a name.
 */
export const mediaTypeOf = (name: string): string =>
  typeOf(name) ?? typeOf(name.replace(/\?.*$/s, '')) ?? 'application/octet-stream'
