package iceberglite.spark.encryption

import java.nio.ByteBuffer
import java.util.{Map => JavaMap, Queue => JavaQueue}
import java.util.concurrent.ConcurrentLinkedQueue

import scala.collection.JavaConverters._

import org.apache.iceberg.{TableMetadata => PeerMetadata, TableOperations}
import org.apache.iceberg.catalog.TableIdentifier
import org.apache.iceberg.encryption.{EncryptingFileIO, EncryptionManager, EncryptionUtil, KeyManagementClient}
import org.apache.iceberg.hadoop.HadoopCatalog
import org.apache.iceberg.io.{FileIO => PeerIO, LocationProvider}

import iceberglite.encryption.{AesGcm, KeyManagement, PeerKeys}
import iceberglite.spec.IcebergError.InvalidArgument

/** The master keys of the tests. */
object TestKeys {
  val master: Map[String, Array[Byte]] = Map("master" -> AesGcm.randomBytes(16), "other" -> AesGcm.randomBytes(16))

  /** The key encryption keys that the service has wrapped. */
  val wrapped: JavaQueue[Array[Byte]] = new ConcurrentLinkedQueue

  /** Whether the key management service fails. */
  @volatile var isDown = false
}

/** A key management service with the [[TestKeys]]. */
final class TestKeys extends KeyManagement {
  override def initialize(properties: JavaMap[String, String]): Unit = ()

  private def cipher(id: String): AesGcm = {
    if (TestKeys.isDown) throw new IllegalStateException("The key server does not answer")
    new AesGcm(TestKeys.master.getOrElse(id, throw InvalidArgument("encryption.key-id", id, "There is no such key")))
  }

  override def wrapKey(key: Array[Byte], id: String): Array[Byte] = {
    TestKeys.wrapped.add(key.clone)
    cipher(id).encrypt(key, Array.emptyByteArray)
  }

  override def unwrapKey(wrapped: Array[Byte], id: String): Array[Byte] =
    cipher(id).decrypt(wrapped, Array.emptyByteArray).get
}

/** A key management service with the [[TestKeys]] for Apache Iceberg. */
final class PeerTestKeys extends KeyManagementClient {
  private def keys = new PeerKeys(TestKeys.master)

  override def initialize(properties: JavaMap[String, String]): Unit = ()
  override def wrapKey(key: ByteBuffer, id: String): ByteBuffer = keys.wrapKey(key, id)
  override def unwrapKey(wrapped: ByteBuffer, id: String): ByteBuffer = keys.unwrapKey(wrapped, id)
}

/** A file-system catalog of Apache Iceberg whose tables may be encrypted, as in its Hive and REST catalogs. */
final class EncryptingPeerCatalog extends HadoopCatalog {
  override protected def newTableOps(identifier: TableIdentifier): TableOperations =
    new EncryptingOperations(super.newTableOps(identifier))
}

final private class EncryptingOperations(plain: TableOperations) extends TableOperations {
  private lazy val manager: EncryptionManager = {
    val metadata = plain.current
    EncryptionUtil.createEncryptionManager(metadata.encryptionKeys, metadata.properties, new PeerTestKeys)
  }

  private def isEncrypted: Boolean =
    Option(plain.current).exists(_.properties.containsKey("encryption.key-id"))

  override def current(): PeerMetadata = plain.current
  override def refresh(): PeerMetadata = plain.refresh()
  override def encryption(): EncryptionManager = if (isEncrypted) manager else plain.encryption
  override def io(): PeerIO = if (isEncrypted) EncryptingFileIO.combine(plain.io, manager) else plain.io

  override def commit(base: PeerMetadata, next: PeerMetadata): Unit =
    if (!isEncrypted) plain.commit(base, next)
    else {
      val builder = PeerMetadata.buildFrom(next)
      EncryptionUtil.encryptionKeys(manager).values.asScala.foreach(builder.addEncryptionKey)
      plain.commit(base, builder.build())
    }

  override def metadataFileLocation(fileName: String): String = plain.metadataFileLocation(fileName)
  override def locationProvider(): LocationProvider = plain.locationProvider
  override def newSnapshotId(): Long = plain.newSnapshotId
  override def temp(uncommitted: PeerMetadata): TableOperations = plain.temp(uncommitted)
}
