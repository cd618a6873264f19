package iceberglite.spec.json

import com.fasterxml.jackson.core.JsonGenerator

import iceberglite.spec.metadata.EncryptionKey

/** The JSON form of an entry of `encryption-keys` (spec, version 3). */
object EncryptionKeyJson extends JsonFormat[EncryptionKey] {
  private val KeyId = "key-id"
  private val EncryptedKeyMetadata = "encrypted-key-metadata"
  private val EncryptedById = "encrypted-by-id"
  private val Properties = "properties"

  override def read(json: JsonValue): EncryptionKey = EncryptionKey(
    json(KeyId).string,
    json(EncryptedKeyMetadata).string,
    json.optional(EncryptedById).map(_.string),
    json.stringsOf(Properties)
  )

  override def write(key: EncryptionKey, out: JsonGenerator): Unit = {
    out.writeStartObject()
    out.writeStringField(KeyId, key.keyId)
    out.writeStringField(EncryptedKeyMetadata, key.encryptedKeyMetadata)
    key.encryptedById.foreach(out.writeStringField(EncryptedById, _))
    if (key.properties.nonEmpty) JsonFormat.writeStrings(out, Properties, key.properties)
    out.writeEndObject()
  }
}
