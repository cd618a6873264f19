package iceberglite.spec

/** A part of a document; nobody writes to the bytes. */
final private[spec] case class JsonSlice(bytes: Array[Byte], from: Int, until: Int)

/** What an immutable value is in JSON, once somebody has read or written it. */
final private[spec] class KeptJson {
  @volatile private var kept: Option[JsonSlice] = None

  def keep(json: JsonSlice): Unit = kept = Some(json)

  /** Two threads may both render it, and get the same. */
  def orElse(render: => Array[Byte]): JsonSlice = kept.getOrElse {
    val bytes = render
    val json = JsonSlice(bytes, 0, bytes.length)
    keep(json)
    json
  }
}
