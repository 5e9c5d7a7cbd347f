import { put } from '../frame/quiet.ts'

/** Globals of pages of Gemini canvas. A token is there, so that they sign in with it. */
const globals = {
  __app_id: 'app',
  __firebase_config: JSON.stringify({ apiKey: 'player', projectId: 'app', appId: 'app' }),
  __initial_auth_token: 'player',
}

for (const [name, value] of Object.entries(globals)) {
  if (!(name in window)) put(window, name, value)
}
