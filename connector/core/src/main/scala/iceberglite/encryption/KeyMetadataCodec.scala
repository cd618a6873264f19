package iceberglite.encryption

import java.io.{ByteArrayOutputStream, IOException}
import java.nio.ByteBuffer

import org.apache.avro.AvroRuntimeException
import org.apache.avro.io.{BinaryDecoder, DecoderFactory, EncoderFactory}

/**
 * The binary form of key metadata that Apache Iceberg also writes: a version byte, and an Avro record with the fields
 * `encryption_key` (bytes), `aad_prefix` (optional bytes) and `file_length` (optional long).
 */
private[encryption] object KeyMetadataCodec {
  private val Version: Byte = 1
  private val Null = 0
  private val Present = 1

  /** The maximum length of an AAD prefix. Known writers write 16 bytes. */
  private val MaxAadLength = 1 << 10

  /** Thrown by the decoding functions below. Messages never contain the decoded bytes. */
  final private class Invalid(reason: String) extends IOException(reason)

  def encode(key: FileKey): ByteBuffer = {
    val bytes = new ByteArrayOutputStream
    bytes.write(Version.toInt)
    val out = EncoderFactory.get.directBinaryEncoder(bytes, null)
    out.writeBytes(key.key)
    out.writeIndex(Present)
    out.writeBytes(key.aadPrefix)
    out.writeIndex(if (key.fileLength.isDefined) Present else Null)
    key.fileLength.foreach(out.writeLong)
    out.flush()
    ByteBuffer.wrap(bytes.toByteArray)
  }

  /** Returns the key, or what is wrong with the bytes. */
  def decode(keyMetadata: ByteBuffer): Either[String, FileKey] = {
    val bytes = new Array[Byte](keyMetadata.remaining)
    keyMetadata.duplicate.get(bytes)
    if (!bytes.headOption.contains(Version)) Left("has an unknown version")
    else {
      val in = DecoderFactory.get.binaryDecoder(bytes, 1, bytes.length - 1, null)
      try Right(read(in))
      catch {
        case e: Invalid => Left(e.getMessage)
        case _: IOException | _: AvroRuntimeException => Left("is incomplete or damaged")
      }
    }
  }

  private def read(in: BinaryDecoder): FileKey = {
    val key = readBytes(in, AesGcm.KeyLengths.max)
    if (!AesGcm.KeyLengths(key.length)) throw new Invalid("has a key that is not of 16, 24 or 32 bytes")
    val aadPrefix = if (isPresent(in)) readBytes(in, MaxAadLength) else Array.emptyByteArray
    val length = if (isPresent(in)) Some(in.readLong()) else None
    if (length.exists(_ < 0)) throw new Invalid("has a negative file length")
    if (!in.isEnd) throw new Invalid("is longer than expected")
    new FileKey(key, aadPrefix, length)
  }

  private def isPresent(in: BinaryDecoder): Boolean = in.readIndex() match {
    case Null => false
    case Present => true
    case _ => throw new Invalid("is damaged")
  }

  /** Reads bytes after a check of their length, so that a false length does not exhaust the memory. */
  private def readBytes(in: BinaryDecoder, maxLength: Int): Array[Byte] = {
    val length = in.readLong()
    if (length < 0 || length > maxLength) throw new Invalid(s"has a part with an invalid length")
    val bytes = new Array[Byte](length.toInt)
    in.readFixed(bytes)
    bytes
  }
}
