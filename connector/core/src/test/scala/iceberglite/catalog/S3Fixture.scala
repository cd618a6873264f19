package iceberglite.catalog

import iceberglite.servers.Servers
import iceberglite.storage.{HadoopFileIO, S3Storage}
import iceberglite.table.ListableFiles

/** The file-system catalog in a bucket of the S3 server of the test environment. */
object S3Fixture extends CatalogFixture {
  override val kind = "hadoop on S3"

  override def properties(store: CatalogFixture.Store): Map[String, String] =
    Map("type" -> "hadoop", "warehouse" -> s"${store.place}/wh")

  override def withStore[A](body: CatalogFixture.Store => A): A = {
    val bucket = Servers.s3.newBucket()
    body(CatalogFixture.Store(
      new BucketFiles(bucket, S3Storage.files(S3Storage.testServer)),
      Map.empty,
      s"s3://$bucket"
    ))
  }

  final private class BucketFiles(bucket: String, io: HadoopFileIO) extends FileIOWrapper(io) with ListableFiles {

    /** Returns the paths of all objects in the bucket, except markers of empty directories. */
    override def paths: Set[String] = below(s"s3://$bucket/")

    private def below(directory: String): Set[String] = {
      val (directories, files) = io.list(directory).partition(_.isDirectory)
      files.map(_.path).toSet ++ directories.flatMap(d => below(d.path))
    }
  }
}
