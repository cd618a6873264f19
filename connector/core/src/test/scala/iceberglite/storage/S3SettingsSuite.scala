package iceberglite.storage

import java.security.MessageDigest
import java.util.Base64

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.IcebergError.{InvalidArgument, Unsupported}

/** Tests the S3 properties that protect objects or determine how objects are stored. */
class S3SettingsSuite extends AnyFunSuite {
  private def content(text: String): Array[Byte] = text.getBytes("UTF-8")

  private def withStore[A](more: (String, String)*)(body: (StubS3, HadoopFileIO) => A): A = {
    val store = new StubS3
    try body(store, S3Storage.files(store.settings ++ more))
    finally store.close()
  }

  test("storage class, tags and access control list are set on every object that is written") {
    withStore(
      "s3.write.storage-class" -> "standard_ia",
      "s3.write.tags.team" -> "a b",
      "s3.write.tags.Cost" -> "7",
      "s3.acl" -> "bucket-owner-full-control"
    ) { (store, io) =>
      io.write("s3://bucket/t/whole", content("1"))
      assert(io.createExclusively("s3a://bucket/t/v1.metadata.json", content("2")))
      // Executors write Parquet files through Hadoop's FileSystem, with a deserialized configuration.
      val copied = new SerializableConfiguration(io.configuration).value
      val path = new org.apache.hadoop.fs.Path("s3a://bucket/t/data")
      val out = path.getFileSystem(copied).create(path)
      out.write(3)
      out.close()
      for (key <- Seq("whole", "v1.metadata.json", "data")) {
        val headers = store.headers.get(s"/bucket/t/$key")
        assert(headers.get("x-amz-storage-class").contains("STANDARD_IA"), key)
        assert(headers.get("x-amz-tagging").contains("Cost=7&team=a%20b"), key)
        assert(headers.get("x-amz-acl").contains("bucket-owner-full-control"), key)
      }
    }
  }

  test("the storage class of one catalog does not apply to objects that another catalog writes") {
    withStore("s3.write.storage-class" -> "GLACIER_IR") { (store, io) =>
      io.write("s3://bucket/one", content("1"))
      S3Storage.files(store.settings).write("s3://bucket/two", content("2"))
      assert(store.headers.get("/bucket/one").contains("x-amz-storage-class"))
      assert(!store.headers.get("/bucket/two").contains("x-amz-storage-class"))
    }
  }

  test("with s3.delete-enabled=false no object is deleted, and no directory is moved") {
    withStore("s3.delete-enabled" -> "false") { (store, io) =>
      io.write("s3://bucket/t/a/f", content("1"))
      io.delete("s3://bucket/t/a/f")
      io.deleteDirectory("s3://bucket/t")
      assert(io.exists("s3://bucket/t/a/f"))
      val message = intercept[Unsupported](io.renameDirectory("s3://bucket/t", "s3://bucket/u")).getMessage
      assert(message.contains("s3.delete-enabled"))
      assert(io.createExclusively("s3://bucket/t/v1.metadata.json", content("2")))
      io.makeDirectory("s3://bucket/d")
      io.write("s3://bucket/d/f", content("3"))
      assert(store.deleted.isEmpty, store.deleted)
    }
    withStore("s3.delete-enabled" -> "true") { (_, io) =>
      io.write("s3://bucket/t/a/f", content("1"))
      io.delete("s3://bucket/t/a/f")
      assert(!io.exists("s3://bucket/t/a/f"))
    }
  }

  test("invalid values of S3 properties are rejected") {
    def rejected(settings: (String, String)*): String =
      intercept[InvalidArgument](S3Settings.hadoop(settings.toMap)).getMessage
    assert(rejected("s3.acl" -> "everybody").contains("bucket-owner-full-control"))
    assert(rejected("s3.delete-enabled" -> "maybe").contains("true or false"))
    withStore("s3.write.storage-class" -> "FLOPPY") { (_, io) =>
      val error = intercept[Exception](io.write("s3://bucket/f", content("1")))
      assert(error.getMessage.contains("FLOPPY"), error)
    }
  }

  test("s3.multipart.part-size-bytes is the size of the parts in which S3A uploads an object") {
    assert(S3Settings.hadoop(Map("s3.multipart.part-size-bytes" -> "7340032"))("fs.s3a.multipart.size") == "7340032")
  }

  test("the MD5 sum of a customer key must match the key") {
    val key = content("0123456789abcdef0123456789abcdef")
    def settings(sum: Array[Byte]) = Map(
      "s3.sse.type" -> "custom",
      "s3.sse.key" -> Base64.getEncoder.encodeToString(key),
      "s3.sse.md5" -> Base64.getEncoder.encodeToString(sum)
    )
    assert(S3Settings.hadoop(settings(MessageDigest.getInstance("MD5").digest(key))).nonEmpty)
    val error = intercept[InvalidArgument](S3Settings.hadoop(settings(content("other"))))
    assert(error.getMessage.contains("s3.sse.md5"))
  }

  test("the S3 properties that a REST server sends cannot set the local staging directory") {
    assert(
      S3Settings.isVended("s3.acl") && S3Settings.isVended("client.region") && !S3Settings.isVended("s3.staging-dir")
    )
    assert(S3Settings.hadoop(Map("s3.staging-dir" -> "/big"))("fs.s3a.buffer.dir") == "/big")
  }

  test("a configured client class of S3A is not replaced silently") {
    val clientFactory = "hadoop.fs.s3a.s3.client.factory.impl" -> "com.example.Mine"
    val message =
      intercept[InvalidArgument](S3Storage.files(Map("s3.write.storage-class" -> "GLACIER", clientFactory))).getMessage
    assert(message.contains("com.example.Mine") && message.contains("s3.write.storage-class"))
    S3Storage.files(Map("s3.acl" -> "private", clientFactory))
  }
}
