CREATE TABLE "sponsors" (
	"app" text PRIMARY KEY NOT NULL,
	"daily_cap" bigint NOT NULL,
	"player_cap" bigint NOT NULL,
	"at" bigint NOT NULL
);
