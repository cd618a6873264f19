package iceberglite.encryption

import java.nio.ByteBuffer

import scala.collection.JavaConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.iceberg.{BaseTable, TableMetadata, TableMetadataParser, TableOperations}
import org.apache.iceberg.encryption.{Ciphers, EncryptingFileIO, EncryptionManager, EncryptionUtil, KeyManagementClient}
import org.apache.iceberg.hadoop.{HadoopFileIO => PeerFileIO}
import org.apache.iceberg.io.{FileIO => PeerIO, LocationProvider}
import org.apache.iceberg.util.ByteBuffers

/**
 * An encrypted table of Apache Iceberg on the local disk. Its commits add the new keys to the table metadata, as the
 * Hive catalog of Apache Iceberg does.
 *
 * @param start the current metadata file; its name is `v<version>.metadata.json`
 */
final class PeerEncryptedTable(start: String, client: KeyManagementClient) extends TableOperations {
  private val files = new PeerFileIO(new Configuration(false))
  private var metadataFile = start
  private var metadata = read(start)

  private def read(path: String): TableMetadata = TableMetadataParser.read(files.newInputFile(path))

  val table = new BaseTable(this, "t")

  def location: String = metadataFile

  private lazy val manager: EncryptionManager =
    EncryptionUtil.createEncryptionManager(metadata.encryptionKeys, metadata.properties, client)

  override def encryption(): EncryptionManager = manager
  override def io(): PeerIO = EncryptingFileIO.combine(files, manager)
  override def current(): TableMetadata = metadata
  override def refresh(): TableMetadata = metadata

  override def commit(base: TableMetadata, next: TableMetadata): Unit = {
    val builder = TableMetadata.buildFrom(next)
    EncryptionUtil.encryptionKeys(manager).values.asScala.foreach(builder.addEncryptionKey)
    val version = start.split("/v").last.takeWhile(_.isDigit).toInt
    val number = metadataFile.split("/v").last.takeWhile(_.isDigit).toInt + 1
    require(number > version)
    metadataFile = s"${start.substring(0, start.lastIndexOf('/'))}/v$number.metadata.json"
    TableMetadataParser.write(builder.build(), files.newOutputFile(metadataFile))
    metadata = read(metadataFile)
  }

  override def metadataFileLocation(fileName: String): String = s"${metadata.location}/metadata/$fileName"
  override def locationProvider(): LocationProvider = throw new UnsupportedOperationException("No data is written")

  /** Returns the paths of the data files of the current snapshot, with their key metadata. */
  def dataFiles: Map[String, ByteBuffer] = {
    val tasks = table.newScan().planFiles()
    try tasks.asScala.map(t => t.file.location -> t.file.keyMetadata).toMap
    finally tasks.close()
  }
}

/** A key management service of Apache Iceberg with master keys in memory. It wraps keys as a key store does. */
final class PeerKeys(masterKeys: Map[String, Array[Byte]]) extends KeyManagementClient {
  override def initialize(properties: java.util.Map[String, String]): Unit = ()

  override def wrapKey(key: ByteBuffer, id: String): ByteBuffer =
    ByteBuffer.wrap(new Ciphers.AesGcmEncryptor(masterKeys(id)).encrypt(ByteBuffers.toByteArray(key), null))

  override def unwrapKey(wrapped: ByteBuffer, id: String): ByteBuffer =
    ByteBuffer.wrap(new Ciphers.AesGcmDecryptor(masterKeys(id)).decrypt(ByteBuffers.toByteArray(wrapped), null))
}
