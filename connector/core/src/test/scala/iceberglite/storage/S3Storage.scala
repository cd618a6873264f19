package iceberglite.storage

import org.apache.hadoop.conf.Configuration

import iceberglite.servers.Servers

/** Creates FileIO objects for S3 stores in tests. */
object S3Storage {

  /** Returns catalog properties for an S3 store. Retries are disabled, so that failures are reported immediately. */
  def settings(endpoint: String, accessKey: String, secretKey: String): Map[String, String] = Map(
    "s3.endpoint" -> endpoint,
    "s3.path-style-access" -> "true",
    "s3.access-key-id" -> accessKey,
    "s3.secret-access-key" -> secretKey,
    "client.region" -> "us-east-1",
    "hadoop.fs.s3a.attempts.maximum" -> "0",
    "hadoop.fs.s3a.retry.limit" -> "1",
    "hadoop.fs.s3a.connection.timeout" -> "2000"
  )

  /** The catalog properties for the S3 server of the test environment. */
  lazy val testServer: Map[String, String] = settings(Servers.s3.endpoint, Servers.s3.accessKey, Servers.s3.secretKey)

  def files(settings: Map[String, String]): HadoopFileIO =
    new HadoopFileIO(StorageSettings.configuration(new Configuration, settings))
}
