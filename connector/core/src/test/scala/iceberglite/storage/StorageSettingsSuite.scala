package iceberglite.storage

import java.nio.file.Files

import scala.collection.JavaConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path}
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.IcebergError.{InvalidArgument, Unsupported}

class StorageSettingsSuite extends AnyFunSuite with TemporaryDirectory {
  private val base = new Configuration(false)
  private val keys = Map("s3.access-key-id" -> "AKIA7", "s3.secret-access-key" -> "zq8+w")

  private def settings(properties: (String, String)*): Map[String, String] = S3Settings.hadoop(properties.toMap)

  test("S3 properties of Apache Iceberg are mapped to Hadoop's") {
    assert(settings(
      "s3.endpoint" -> " http://x:9000 ",
      "s3.path-style-access" -> "true",
      "client.region" -> "r"
    ) == Map(
      "fs.s3a.endpoint" -> "http://x:9000",
      "fs.s3a.path.style.access" -> "true",
      "fs.s3a.endpoint.region" -> "r"
    ))
    assert(S3Settings.hadoop(keys) == Map(
      "fs.s3a.access.key" -> "AKIA7",
      "fs.s3a.secret.key" -> "zq8+w",
      "fs.s3a.aws.credentials.provider" -> "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider"
    ))
    val session = S3Settings.hadoop(keys + ("s3.session-token" -> "token"))
    assert(session("fs.s3a.session.token") == "token")
    assert(session("fs.s3a.aws.credentials.provider").endsWith(".TemporaryAWSCredentialsProvider"))
    assert(settings("s3.sse.type" -> "kms", "s3.sse.key" -> "arn") == Map(
      "fs.s3a.server-side-encryption-algorithm" -> "SSE-KMS",
      "fs.s3a.server-side-encryption.key" -> "arn"
    ))
    assert(settings("s3.other" -> "x", "s3.endpoint" -> "", "warehouse" -> "s3://b").isEmpty)
  }

  test("setting only one of the two access keys, or an unknown encryption type, is rejected without showing the keys") {
    keys.keys.foreach { key =>
      val error = intercept[InvalidArgument](S3Settings.hadoop(keys - key))
      assert(error.getMessage.contains(key) && keys.values.forall(!error.getMessage.contains(_)))
    }
    intercept[InvalidArgument](settings("s3.sse.type" -> "rot13"))
  }

  test("s3 and s3n are read by S3A, unless another file system is configured for them") {
    val conf = StorageSettings.configuration(base, Map.empty)
    assert(Seq("s3", "s3a", "s3n").forall(s => conf.get(s"fs.$s.impl") == "org.apache.hadoop.fs.s3a.S3AFileSystem"))
    val emr = new Configuration(false)
    emr.set("fs.s3.impl", "com.example.Emr")
    assert(StorageSettings.configuration(emr, Map.empty).get("fs.s3.impl") == "com.example.Emr")
  }

  test("the storage properties of a catalog do not affect other catalogs or the session's configuration") {
    def conf(properties: (String, String)*): Configuration =
      StorageSettings.configuration(
        base,
        Map("hadoop.fs.rename.impl" -> classOf[RenamingFileSystem].getName) ++ properties
      )
    def system(conf: Configuration): FileSystem =
      CatalogFileSystem.unwrapped(new Path("rename://host/x").getFileSystem(conf))
    val first = conf("hadoop.fs.rename.user" -> "a")
    assert(system(first) eq system(first), "equal settings share one file system")
    assert(system(first) eq system(conf("hadoop.fs.rename.user" -> "a")))
    val second = system(conf("hadoop.fs.rename.user" -> "b"))
    assert(!(second eq system(first)) && second.getConf.get("fs.rename.user") == "b")
    assert(system(first).getConf.get("fs.rename.user") == "a")
    val third = new HadoopFileIO(conf()).configured(Map("hadoop.fs.rename.user" -> "c"))
    assert(system(third.configuration).getConf.get("fs.rename.user") == "c")
    intercept[Exception](system(base))
  }

  test("files on a file system that a catalog property configures can be written and read") {
    val properties = Map("hadoop.fs.hdfs.impl" -> classOf[RenamingFileSystem].getName)
    val io = new HadoopFileIO(StorageSettings.configuration(base, properties))
    val path = s"hdfs://host$directory/a/f"
    assert(io.createExclusively(path, "x".getBytes) && !io.createExclusively(path, "y".getBytes))
    io.write(s"$path.2", "z".getBytes)
    assert(new String(io.read(path)) == "x" && io.list(s"hdfs://host$directory/a").size == 2)
    val names = Files.list(directory.resolve("a")).iterator.asScala.map(_.getFileName.toString).toSet
    assert(names == Set("f", "f.2"))
  }

  test("a file system class for local files is used only by the catalog that configures it") {
    val properties = Map("hadoop.fs.file.impl" -> classOf[CountingFileSystem].getName)
    val io = new HadoopFileIO(StorageSettings.configuration(base, properties))
    CountingFileSystem.calls.clear()
    io.write(s"$directory/f", "x".getBytes)
    assert(new String(io.read(s"$directory/f")) == "x")
    assert(CountingFileSystem.calls.asScala.toSet == Set("open", "create"))
    CountingFileSystem.calls.clear()
    assert(new String(new HadoopFileIO(StorageSettings.configuration(base, Map.empty)).read(s"$directory/f")) == "x")
    assert(CountingFileSystem.calls.isEmpty)
  }

  test("the error for a missing file system class contains the Maven coordinates of its jar") {
    val conf = StorageSettings.configuration(base, Map("hadoop.fs.gs.impl" -> "com.google.cloud.hadoop.fs.gcs.Missing"))
    conf.set("fs.s3a.impl", "org.apache.hadoop.fs.s3a.MissingFileSystem")
    conf.set("fs.oss.impl", "com.example.Mine")
    val io = new HadoopFileIO(conf)
    val s3 = intercept[Unsupported](io.read("s3a://b/x")).getMessage
    assert(s3.contains("org.apache.hadoop:hadoop-aws:3.3.") && s3.contains("aws-java-sdk-bundle"))
    assert(s3.contains("org.apache.hadoop.fs.s3a.MissingFileSystem") && s3.contains("--packages"))
    assert(intercept[Unsupported](io.write("gs://b/x", Array.emptyByteArray)).getMessage.contains("gcs-connector"))
    // No jar is suggested for a class that the user configured.
    assert(!intercept[Exception](io.read("oss://b/x")).getMessage.contains("hadoop-aliyun"))
  }

  test("an exclusive create on storage that does not support it is rejected, and the error suggests other catalogs") {
    Seq("wasb", "gs", "s3").foreach { scheme =>
      val conf = new Configuration(false)
      conf.set(s"fs.$scheme.impl", classOf[RenamingFileSystem].getName)
      conf.setBoolean(s"fs.$scheme.impl.disable.cache", true)
      val error =
        intercept[Unsupported](new HadoopFileIO(conf).createExclusively(s"$scheme://b$directory/f", "x".getBytes))
      assert(error.getMessage.contains(scheme) && error.getMessage.contains("Use a JDBC, REST or Hive catalog"))
    }
  }
}
