package iceberglite.storage

import java.net.URI
import java.nio.file.Files
import java.nio.file.attribute.PosixFilePermissions

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.permission.FsPermission
import org.apache.hadoop.fs.{FileSystem, LocalFileSystem, Path, RawLocalFileSystem}

/**
 * Hadoop's file system on the local disk, without checksum files. It sets permissions in this process. Where Hadoop has
 * no native library, the superclass starts a `chmod` process for each new file and directory.
 */
class RawLocalDisk extends RawLocalFileSystem {
  override def setPermission(path: Path, permission: FsPermission): Unit = {
    val actions = Seq(permission.getUserAction, permission.getGroupAction, permission.getOtherAction)
    Files.setPosixFilePermissions(
      pathToFile(path).toPath,
      PosixFilePermissions.fromString(actions.map(_.SYMBOL).mkString)
    )
    ()
  }
}

/** Hadoop's local file system, on a [[RawLocalDisk]]. */
class LocalDisk extends LocalFileSystem(new RawLocalDisk)

object LocalDisk {

  /**
   * Makes Hadoop use [[LocalDisk]] for the scheme `file` in this JVM, and thus also Spark and Apache Iceberg. Hadoop
   * caches the first file system of a scheme. The class is not set in the configuration of tests, because iceberg-lite
   * uses Hadoop for local files if a class is configured.
   */
  def install(): Unit = {
    val configuration = new Configuration
    configuration.set("fs.file.impl", classOf[LocalDisk].getName)
    FileSystem.get(URI.create("file:///"), configuration)
    ()
  }
}
