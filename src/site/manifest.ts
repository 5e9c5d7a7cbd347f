/** The web app manifest: browsers can install the site (https://www.w3.org/TR/appmanifest/). */
export const manifest = {
  name: 'Berth',
  short_name: 'Berth',
  description: 'Make, play and remix apps and games.',
  start_url: '/',
  display: 'standalone',
  background_color: '#fdfdfc',
  theme_color: '#0b6e63',
  icons: [
    { src: '/static/icon-192.png', sizes: '192x192', type: 'image/png' },
    { src: '/static/icon-512.png', sizes: '512x512', type: 'image/png' },
    { src: '/static/icon-512.png', sizes: '512x512', type: 'image/png', purpose: 'maskable' },
    { src: '/favicon.svg', sizes: 'any', type: 'image/svg+xml' },
  ],
}
