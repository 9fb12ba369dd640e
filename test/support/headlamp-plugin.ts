/**
 * `build`: the plugin is built with Headlamp's tool. A folder: it is also shown in the Headlamp
 * there, which has `headlamp-server` and `frontend/build`. Undefined: neither.
 */
export const HEADLAMP = process.env['JOINER_HEADLAMP'];
