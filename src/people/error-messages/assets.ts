import { type ErrorRows, formatSize } from './row.ts'

/** Errors of assets and icons. */
export const assets = {
  assets_off: {
    status: 404,
    message: 'Assets are not available on this server. Put what the page needs into its html.',
  },
  asset_too_large: {
    status: 413,
    message: ({ bytes, max, path }) =>
      `${path === undefined ? '' : `${path}: `}${formatSize(bytes)} is over the limit of ${formatSize(max)} for an asset. Send a smaller file.`,
  },
  bad_asset: {
    status: 422,
    message: ({ why, path }) =>
      path === undefined
        ? `This file cannot be an asset: ${why} Send the complete file as the request body, or as JSON: { "data": "data:..." }.`
        : `${path} cannot be an asset: ${why} Send a complete file, or leave it out.`,
  },
  too_many_assets: {
    status: 409,
    message: ({ max }) => `This app has reached the limit of ${max} assets. Delete an asset first.`,
  },
  assets_full: {
    status: 409,
    message: ({ used, max }) =>
      `The assets of this app use ${formatSize(used)} of ${formatSize(max)}. Delete an asset first.`,
  },
  no_painter: {
    status: 503,
    message:
      'No image model is available right now. Upload your own file: PUT /apps/{id}/assets/{name}.',
  },
  no_voice: {
    status: 503,
    message:
      'No audio model is available right now. Upload your own file: PUT /apps/{id}/assets/{name}.',
  },
  too_big: {
    status: 413,
    message: ({ bytes, max }) =>
      `${formatSize(bytes)} is over the limit of ${formatSize(max)} for an image. Send a smaller one.`,
  },
  bad_picture: {
    status: 422,
    message: ({ why }) => `This image cannot be used: ${why}. Send another image.`,
  },
  no_picture: {
    status: 502,
    message:
      'The model returned no image. Nothing was charged. Try again, or send your own as "image".',
  },
  no_icon_model: {
    status: 503,
    code: 'no_picture',
    message:
      'No image model is available right now. Nothing was charged. Send your own as "image".',
  },
} satisfies ErrorRows
