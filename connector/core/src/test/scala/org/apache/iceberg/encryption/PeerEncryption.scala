package org.apache.iceberg.encryption

import java.nio.ByteBuffer

import org.apache.iceberg.inmemory.{InMemoryInputFile, InMemoryOutputFile}
import org.apache.iceberg.io.IOUtil
import org.apache.iceberg.util.ByteBuffers

/** Gives access to Apache Iceberg's encryption, parts of which are private to its package. */
object PeerEncryption {

  /** The parts of key metadata: key, AAD prefix and file length. */
  type Parts = (Array[Byte], Array[Byte], Option[Long])

  def encode(key: Array[Byte], aadPrefix: Array[Byte], length: Option[Long]): ByteBuffer =
    new StandardKeyMetadata(key, aadPrefix, length.map(Long.box).orNull).buffer

  def decode(bytes: ByteBuffer): Parts = {
    val parsed = StandardKeyMetadata.parse(bytes.duplicate)
    (
      ByteBuffers.toByteArray(parsed.encryptionKey),
      ByteBuffers.toByteArray(parsed.aadPrefix),
      Option(parsed.fileLength).map(_.longValue)
    )
  }

  /** Encrypts a file. @param chunks the arguments of the calls of `write` */
  def encrypt(chunks: Seq[Array[Byte]], key: Array[Byte], aadPrefix: Array[Byte]): Array[Byte] = {
    val file = new InMemoryOutputFile("f")
    val out = new AesGcmOutputFile(file, key, aadPrefix).create()
    chunks.foreach(out.write)
    out.close()
    file.toByteArray
  }

  def decrypt(stored: Array[Byte], key: Array[Byte], aadPrefix: Array[Byte]): Array[Byte] = {
    val file = new AesGcmInputFile(new InMemoryInputFile("f", stored), key, aadPrefix, Long.box(stored.length.toLong))
    val in = file.newStream()
    try {
      val content = new Array[Byte](file.getLength.toInt)
      IOUtil.readFully(in, content, 0, content.length)
      content
    } finally in.close()
  }
}
