import { decodeObject, PROTOBUF_TYPE, ProtobufError } from './protobuf.ts';
import { list, message } from './shape.ts';

/** A metav1.Status, with the tags of its generated.proto. */
const STATUS = message({
  message: [3, 'string'],
  reason: [4, 'string'],
  details: [
    5,
    message({
      causes: [
        4,
        list(message({ reason: [1, 'string'], message: [2, 'string'], field: [3, 'string'] })),
      ],
      retryAfterSeconds: [5, 'positiveInt'],
    }),
  ],
});

/**
 * The body of an answer that is no success, as text. Whoever asks for protobuf is refused
 * in protobuf, too: that becomes the JSON of the same Status, or nothing where it cannot be read.
 */
export function refusalText(bytes: Buffer, contentType: string | undefined): string {
  if (contentType?.startsWith(PROTOBUF_TYPE) !== true) return bytes.toString('utf8');
  try {
    return JSON.stringify(decodeObject(bytes, STATUS));
  } catch (error) {
    if (error instanceof ProtobufError) return '';
    throw error;
  }
}
