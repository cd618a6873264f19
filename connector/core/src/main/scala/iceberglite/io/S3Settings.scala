package iceberglite.io

import iceberglite.spec.IcebergError.InvalidArgument

/**
 * Settings of S3 by the names that users of Apache Iceberg know (`s3.endpoint`, `s3.access-key-id`, …), of a
 * catalog's configuration or vended by a REST catalog, in the words of Hadoop's S3A.
 */
object S3Settings {

  /** What all of their names begin with but that of the region. */
  val Prefix = "s3."

  private val AccessKey = "s3.access-key-id"
  private val SecretKey = "s3.secret-access-key"
  private val SessionToken = "s3.session-token"
  private val Region = "client.region"
  private val Encryption = "s3.sse.type"
  private val EncryptionKey = "s3.sse.key"

  private val Package = "org.apache.hadoop.fs.s3a"

  /** Keys whose values S3A takes as they are. */
  private val renamed: Map[String, String] = Map(
    "s3.endpoint" -> "fs.s3a.endpoint",
    "s3.path-style-access" -> "fs.s3a.path.style.access",
    AccessKey -> "fs.s3a.access.key",
    SecretKey -> "fs.s3a.secret.key",
    SessionToken -> "fs.s3a.session.token",
    Region -> "fs.s3a.endpoint.region",
    EncryptionKey -> "fs.s3a.server-side-encryption.key",
    "s3.multipart.part-size-bytes" -> "fs.s3a.multipart.size"
  )

  private val encryptions: Map[String, Option[String]] =
    Map("none" -> None, "s3" -> Some("AES256"), "kms" -> Some("SSE-KMS"), "custom" -> Some("SSE-C"))

  /** The keys with the prefix that have a meaning here. */
  val keys: Seq[String] = (renamed.keySet + Encryption - Region).toVector.sorted

  /**
   * The settings of Hadoop for those of S3; other keys are left out.
   *
   * @throws InvalidArgument half of a pair of keys, or an unknown kind of encryption
   */
  def hadoop(properties: Map[String, String]): Map[String, String] = {
    val given = properties.map { case (key, value) => key -> value.trim }.filter(_._2.nonEmpty)
    val plain = renamed.collect { case (key, hadoopKey) if given.contains(key) => hadoopKey -> given(key) }
    plain ++ provider(given) ++ encryption(given)
  }

  /** Keys that were given are the ones to use, whatever the environment or the machine's role has. */
  private def provider(given: Map[String, String]): Map[String, String] = {
    val pair = Seq(AccessKey, SecretKey)
    pair.find(given.contains).foreach { there =>
      pair.find(!given.contains(_)).foreach { missing =>
        throw InvalidArgument(missing, "none", s"$there is set: set both")
      }
    }
    if (!given.contains(AccessKey)) Map.empty
    else {
      val name = if (given.contains(SessionToken)) "TemporaryAWSCredentialsProvider" else "SimpleAWSCredentialsProvider"
      Map("fs.s3a.aws.credentials.provider" -> s"$Package.$name")
    }
  }

  private def encryption(given: Map[String, String]): Map[String, String] = given.get(Encryption).fold(
    Map.empty[String, String]
  ) { kind =>
    val algorithm = encryptions.getOrElse(
      kind.toLowerCase,
      throw InvalidArgument(Encryption, kind, s"It must be one of ${encryptions.keys.toVector.sorted.mkString(", ")}")
    )
    algorithm.map("fs.s3a.server-side-encryption-algorithm" -> _).toMap
  }
}
