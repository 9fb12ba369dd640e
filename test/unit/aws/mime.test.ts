import { describe, expect, it } from 'vitest';
import { readMultipart } from '../../../shared/aws/user-data/mime.ts';

describe('a multipart message whose last line does not close it', () => {
  const text =
    'Content-Type: multipart/mixed; boundary="B"\n\n--B\nContent-Type: text/x-a\n\nx\n--B';

  it.each(['', '\n', '\r\n\n'])('ends where nothing follows it: %j', (end) => {
    expect(readMultipart(`${text}${end}`)).toEqual(readMultipart(`${text}--\n`));
  });

  it.each(['\nContent-Type: text/x-b\n', '\n\ny\n'])('is cut off where %j does', (end) => {
    expect(readMultipart(`${text}${end}`)).toMatchObject({ ok: false });
  });
});
