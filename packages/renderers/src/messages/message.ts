/** Who speaks. Every template knows the first five; some know more, such as `tool_declare`. */
export type Role = 'system' | 'developer' | 'user' | 'assistant' | 'tool' | (string & {});

/** Text. */
export interface TextPart {
  readonly type: 'text';
  readonly text: string;
}

/** What the model thought before it answered. */
export interface ThinkingPart {
  readonly type: 'thinking';
  readonly thinking: string;
}

/** The bytes of an image file. */
export interface ImageFile {
  readonly data: Uint8Array;
  readonly format: 'png' | 'jpeg';
}

/** An image: a data URI (`data:image/png;base64,…`), the bytes of a file, or the address of an image that the server fetches. */
export interface ImagePart {
  readonly type: 'image';
  readonly image: string | ImageFile;
}

/** Audio, as the bytes of a TensorContainer of discrete mel frames. Only `tml_v0` takes it. */
export interface AudioPart {
  readonly type: 'audio';
  readonly audio: Uint8Array | string;
}

/** One part of a message's content. */
export type ContentPart = TextPart | ThinkingPart | ImagePart | AudioPart;

/** What a message says: text, or parts in order. */
export type Content = string | readonly ContentPart[];

/** A call of a tool by the model. */
export interface ToolCall {
  readonly type: 'function';
  /** Links the call to the tool message that answers it. */
  readonly id?: string | undefined;
  readonly function: {
    readonly name: string;
    /** JSON text, as the model wrote it. */
    readonly arguments: string;
  };
}

/** A tool call in a model's output that could not be read. Never rendered again. */
export interface UnparsedToolCall {
  readonly rawText: string;
  readonly error: string;
}

/** One message of a conversation. */
export interface Message {
  readonly role: Role;
  readonly content: Content;
  readonly toolCalls?: readonly ToolCall[] | undefined;
  readonly unparsedToolCalls?: readonly UnparsedToolCall[] | undefined;
  /** Whether the message is trained on. Only for `trainOnWhat: 'customized'`, where every message has it. */
  readonly trainable?: boolean | undefined;
  /** In a tool message: the call it answers. */
  readonly toolCallId?: string | undefined;
  /** In a tool message: the name of the tool. */
  readonly name?: string | undefined;
}
