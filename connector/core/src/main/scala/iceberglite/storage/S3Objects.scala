package iceberglite.storage

import java.io.{ByteArrayInputStream, FileNotFoundException}
import java.util.concurrent.ConcurrentHashMap
import java.util.{Collections, UUID, WeakHashMap}

import scala.collection.JavaConverters._
import scala.util.control.NonFatal

import com.amazonaws.services.s3.AmazonS3
import com.amazonaws.services.s3.model.DeleteObjectsRequest.KeyVersion
import com.amazonaws.services.s3.model.{MultiObjectDeleteException, PutObjectRequest}
import com.amazonaws.{AmazonClientException, AmazonServiceException}
import org.apache.hadoop.fs.s3a.{Constants, S3AFileSystem}
import org.apache.hadoop.fs.{FileSystem, Path}

import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError.{CommitStateUnknown, StorageFailed, UnreadableFile, Unsupported}

/**
 * Reads and writes whole S3 objects with one request for each object, and deletes many objects with one request. The
 * requests use S3A's client, which has S3A's settings. S3A's own operations are not used, because they send additional
 * requests that check for directories. An object is created exclusively by a `PUT` with `If-None-Match: *`, which the
 * store rejects if the key exists. S3A in this Hadoop release cannot send such a request.
 *
 * Only this class and [[S3ClientFactory]] require the `hadoop-aws` jars. This class is loaded on the first access to a
 * file on S3.
 */
final private[storage] class S3Objects(fs: S3AFileSystem) {
  import S3Objects._

  private val client =
    clients.computeIfAbsent(fs, _ => fs.getAmazonS3ClientForTesting("iceberg-lite reads and writes whole objects"))

  def read(path: Path, bounds: ReadBounds): Array[Byte] =
    try {
      val s3Object = client.getObject(fs.getRequestFactory.newGetObjectRequest(fs.pathToKey(path)))
      try {
        bounds.checkLength(path.toString, s3Object.getObjectMetadata.getContentLength)
        bounds.read(path.toString, s3Object.getObjectContent)
      } catch {
        case failure: UnreadableFile =>
          // Closing the stream without `abort` would read the remaining part of the object.
          s3Object.getObjectContent.abort()
          throw failure
      } finally s3Object.close()
    } catch { case e: AmazonServiceException if e.getStatusCode == 404 => throw missing(path, e) }

  /** Creates or replaces an object. */
  def write(path: Path, contents: Array[Byte]): Unit = {
    client.putObject(request(fs.pathToKey(path), contents))
    ()
  }

  /** Creates an object exclusively. Returns false if the key exists. */
  def createExclusively(path: Path, contents: Array[Byte]): Boolean = {
    val key = fs.pathToKey(path)
    requireSupport(path, key)
    putExclusively(path, key, contents)
  }

  /**
   * Whether several objects can be deleted by one request. S3A's setting `fs.s3a.multiobjectdelete.enable` turns these
   * requests off for stores that do not support them.
   */
  def deletesTogether: Boolean = fs.getConf.getBoolean(Constants.ENABLE_MULTI_DELETE, true)

  /**
   * Deletes objects by one request. If the store does not support such requests, deletes each object by its own
   * request.
   *
   * @param objects the paths of at most [[MaxDeletedTogether]] objects, each as text and as a Hadoop path
   * @return the objects that could not be deleted
   */
  def deleteTogether(objects: Vector[(String, Path)]): Vector[FailedDeletion] = {
    val keys = objects.map { case (text, path) => text -> fs.pathToKey(path) }
    try {
      val versions = keys.map { case (_, key) => new KeyVersion(key) }
      // In quiet mode, the response contains only the keys that were not deleted.
      client.deleteObjects(fs.getRequestFactory.newBulkDeleteRequest(versions.asJava, true))
      Vector.empty
    } catch {
      case partial: MultiObjectDeleteException => failures(keys, partial)
      // `MultiObjectDeleteException` is also an `AmazonServiceException`.
      case refused: AmazonServiceException if RefusedTogether(refused.getStatusCode) =>
        keys.flatMap { case (text, key) =>
          FailedDeletion.of(text)(StorageErrors.wrapErrors("delete", text)(deleteObject(key)))
        }
    }
  }

  /**
   * Returns the objects that a request did not delete. An error without a key of the request may be about any object.
   * Therefore it is reported for all objects without an error of their own.
   */
  private def failures(keys: Vector[(String, String)], e: MultiObjectDeleteException): Vector[FailedDeletion] = {
    val known = keys.map(_._2).toSet
    val (own, other) = e.getErrors.asScala.toVector.partition(error => Option(error.getKey).exists(known))
    val errors = own.map(error => error.getKey -> error).toMap
    keys.flatMap { case (text, key) =>
      errors.get(key).orElse(other.headOption).map { error =>
        FailedDeletion(text, StorageFailed.at("delete", text, s"${error.getMessage} (${error.getCode})"))
      }
    }
  }

  /** Deletes an object by its own request. Some stores respond with an error if the object does not exist. */
  private def deleteObject(key: String): Unit =
    try client.deleteObject(fs.getBucket, key)
    catch { case e: AmazonServiceException if Option(e.getErrorCode).contains("NoSuchKey") => () }

  private def request(key: String, contents: Array[Byte]): PutObjectRequest = {
    val metadata = fs.getWriteOperationHelper.newObjectMetadata(contents.length.toLong)
    val request = fs.getRequestFactory.newPutObjectRequest(key, metadata, new ByteArrayInputStream(contents))
    // This limit allows the client to read the content again from the start when it retries the request.
    request.getRequestClientOptions.setReadLimit(contents.length + 1)
    request
  }

  private def putExclusively(path: Path, key: String, contents: Array[Byte]): Boolean = {
    val exclusive = request(key, contents)
    exclusive.putCustomRequestHeader("If-None-Match", "*")
    try {
      client.putObject(exclusive)
      true
    } catch {
      case failure: AmazonServiceException => resultOf(path, failure)
      case failure: AmazonClientException => throw unknown(path, failure)
    }
  }

  /**
   * Interprets an error response to a conditional `PUT`. Returns false if the key exists or another request is creating
   * it.
   */
  private def resultOf(path: Path, error: AmazonServiceException): Boolean = error.getStatusCode match {
    case PreconditionFailed | Conflict => false
    case NotImplemented => throw unsupported(path)
    case status if status >= 500 || status == RequestTimeout || status == 0 => throw unknown(path, error)
    case _ => throw StorageErrors.storageFailed("create", path.toString, error)
  }

  private def unknown(path: Path, e: AmazonClientException): CommitStateUnknown = {
    val reason = s"the store neither confirmed nor rejected the write (${e.getMessage})"
    CommitStateUnknown(s"the table of $path", Some(path.toString), reason, Some(e))
  }

  /**
   * Checks, once for each bucket, that the store supports `If-None-Match`. A store that ignores the header would also
   * accept the second of two concurrent writes, and the first commit would be lost silently.
   */
  private def requireSupport(path: Path, key: String): Unit = if (!supportedBuckets.contains(bucketUrl)) {
    if (!isSupported(path, key)) throw unsupported(path)
    supportedBuckets.add(bucketUrl)
  }

  private def bucketUrl: String = client.getUrl(fs.getBucket, "").toString

  private def isSupported(path: Path, key: String): Boolean = {
    val probe = s"${key.substring(0, key.lastIndexOf('/') + 1)}.conditional-put-${UUID.randomUUID}"
    try !putExclusively(path, probe, ProbeContent) || !putExclusively(path, probe, ProbeContent)
    catch {
      // Only the outcome of the probe is unknown. The commit has sent no data, so its outcome is known.
      case unclear: CommitStateUnknown =>
        throw StorageErrors.storageFailed("create", path.toString, unclear.cause.getOrElse(unclear))
    } finally
      try if (fs.getConf.getBoolean(S3Settings.HadoopDeleteEnabled, true)) client.deleteObject(fs.getBucket, probe)
      catch { case NonFatal(_) => () }
  }

  private def unsupported(path: Path): IcebergError = Unsupported(
    s"committing to $path: the store $bucketUrl does not support If-None-Match on PUT, so concurrent commits could " +
      "overwrite each other",
    "Use a JDBC, REST or Hive catalog for tables on this store, or a store that supports If-None-Match"
  )

  private def missing(path: Path, error: AmazonServiceException): FileNotFoundException = {
    val e = new FileNotFoundException(path.toString)
    e.initCause(error)
    e
  }
}

private[storage] object S3Objects {

  /** Returns the S3 operations of a file system; `None` if the file system is not S3A. */
  def of(fs: FileSystem): Option[S3Objects] = CatalogFileSystem.unwrapped(fs) match {
    case s3a: S3AFileSystem => Some(new S3Objects(s3a))
    case _ => None
  }

  /** The maximum number of objects that S3 deletes by one request. */
  val MaxDeletedTogether = 1000

  private val PreconditionFailed = 412

  /** The HTTP status of a request that the store rejected because another request for the same key was in progress. */
  private val Conflict = 409
  private val RequestTimeout = 408
  private val NotImplemented = 501

  /** The HTTP statuses of stores that do not support requests that delete several objects. */
  private val RefusedTogether = Set(400, 404, 405, NotImplemented)
  private val ProbeContent =
    "Written by iceberg-lite to check if the store supports If-None-Match; can be deleted".getBytes

  /** Caches clients, because S3A logs a warning each time its client is requested. */
  private val clients = Collections.synchronizedMap(new WeakHashMap[FileSystem, AmazonS3])
  private val supportedBuckets = ConcurrentHashMap.newKeySet[String]
}
