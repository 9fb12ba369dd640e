import { describe, expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { readmeOf } from '../../scripts/package/readme.ts';
import { textOf } from '../support/repository.ts';

describe("the package's README", () => {
  const readme = readmeOf(textOf('docs/package.md'));
  const links = [...readme.matchAll(/\]\(([^)]+)\)/g)].map(([, link = '']) => link);

  it('leads to the pages of the site', () => {
    const pages = ['index', 'start/quick-start', 'start/install', 'deploy', 'faq'];
    expect(links).toEqual(
      expect.arrayContaining(pages.map((page) => `${packageJson.homepage}${page}.html`)),
    );
    expect(links.filter((link) => !link.startsWith('https://'))).toEqual([]);
  });

  it('keeps the section of a link, and links to elsewhere', () => {
    const page = '[a](tasks/spot.md#one) [b](https://example.com/x.md) [c](faq.md)';
    expect(readmeOf(page)).toBe(
      `[a](${packageJson.homepage}tasks/spot.html#one) [b](https://example.com/x.md) ` +
        `[c](${packageJson.homepage}faq.html)`,
    );
  });
});

describe('the warning of the AWS SDK under Node 20', () => {
  const sdk = textOf(
    'node_modules/@aws-sdk/core/dist-es/submodules/client/emitWarningIfUnsupportedVersion.js',
  );

  it.each(['NodeVersionSupportWarning', 'AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'])(
    'is in the page of the installation as it is in the SDK: %s',
    (words) => {
      expect(sdk).toContain(words);
      expect(textOf('docs/start/install.md')).toContain(words);
    },
  );
});
