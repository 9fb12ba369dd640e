/**
 * The configuration is TypeScript, which Node reads as it is. VitePress would bundle it, with a
 * compiler that does not know our tsconfig's target.
 */
const { default: config } = await import(
  new URL('../../scripts/docs/config.ts', import.meta.url).href
);

export default config;
